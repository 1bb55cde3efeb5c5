"""Which pages in a browser may use the service: its own, and those that it was told of."""

from collections.abc import Collection, Mapping

from treecrf.serve.errors import ServeError

__all__ = ["ANY_PAGE", "check_page", "is_foreign"]

ANY_PAGE = "*"


def is_foreign(headers: Mapping[str, str]) -> bool:
    """Whether a browser says that a page from elsewhere sends this; others say nothing.

    Pages may send some bodies anywhere without asking.
    """
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is None and origin is not None:
        # The scheme is left out: a proxy may have changed it.
        own = headers.get("host", "")
        site = "same-origin" if origin.partition("://")[2] == own else "cross-site"
    return site not in (None, "same-origin", "none")


def check_page(headers: Mapping[str, str], allowed: Collection[str]) -> dict[str, str]:
    """The headers that let a page of an allowed origin read the answer; an error for others."""
    origin = headers.get("origin", "")
    if ANY_PAGE in allowed:
        return {"Access-Control-Allow-Origin": ANY_PAGE}
    if origin and origin.lower() in allowed:
        return {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
    if is_foreign(headers):
        raise ServeError(
            403,
            f"pages of {origin[:100] or 'another site'} may not use this service; start it with "
            "--allow-origin to let them",
        )
    return {}
