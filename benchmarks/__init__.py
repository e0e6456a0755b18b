"""The paper's algorithms written plainly, and the measurements of the library against them."""
