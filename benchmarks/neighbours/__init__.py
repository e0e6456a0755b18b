"""The paper's neighbours beside other libraries that have them."""
