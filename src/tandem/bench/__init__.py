"""What `tandem bench` measures: families of objects, and the ratios made of them."""
