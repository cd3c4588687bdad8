"""An abstract interpreter of Python over the values of `domain`."""
