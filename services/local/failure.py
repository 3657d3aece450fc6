"""The one way in which a command of this machine ends without its work done."""


class Failure(Exception):
    """One sentence for the person at the terminal: what is wrong, and the way out."""
