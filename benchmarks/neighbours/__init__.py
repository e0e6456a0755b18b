"""The methods around the paper: value and time on its instances, as starts, and beside other packages."""
