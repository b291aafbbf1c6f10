"""What can go wrong, as exceptions that say what to do next."""


class StapoError(Exception):
    """stapo-analyze could not do it. `message` says what is wrong, `hint` what to do."""

    def __init__(self, message: str, hint: str = "", stderr: str = "") -> None:
        super().__init__(f"{message}\nhint: {hint}" if hint else message)
        self.message, self.hint, self.stderr = message, hint, stderr

    def __reduce__(self):
        return type(self), (self.message, self.hint, self.stderr)


class ProgramNotFound(StapoError):
    """The program itself is not where it should be."""


class GateFailed(StapoError):
    """A condition of `fail_on` held. The result that met it is in `result`."""

    def __init__(self, message: str, hint: str = "", stderr: str = "", result=None) -> None:
        super().__init__(message, hint, stderr)
        self.result = result
