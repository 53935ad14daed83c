"""Asks a Gatehouse who is signed in and what an organisation's plan allows.

One file without dependencies, for Python 3.9 and later: copy it into your project. It is thread-safe, and has no cache:
a service that asks for the same entitlements many times a second keeps them itself, for some seconds.
"""

from __future__ import annotations

import http.client
import json
import random
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from dataclasses import dataclass, field
from typing import Any, Iterator, Literal, Mapping, Optional, TypedDict

__version__ = "0.2.0"

Role = Literal["owner", "admin", "member", "viewer"]
Scope = Literal["READ", "WRITE", "ADMIN"]
Approval = Literal["approved", "pending", "declined", "suspended"]
ChangeType = Literal[
    "organisation.created",
    "organisation.approved",
    "organisation.declined",
    "organisation.suspended",
    "organisation.restored",
    "organisation.renamed",
    "organisation.deleted",
    "plan.changed",
    "user.renamed",
    "member.joined",
    "member.left",
    "member.role_changed",
    "user.email_changed",
    "user.suspended",
    "user.restored",
    "user.deleted",
]


class User(TypedDict):
    id: str
    email: str
    name: Optional[str]


class SessionOrganisation(TypedDict):
    id: str
    slug: str
    name: Optional[str]
    tier: str


class Session(TypedDict):
    """The signed-in user, the organisation of the session, and the user's role and scopes there."""

    user: User
    organisation: Optional[SessionOrganisation]
    role: Optional[Role]
    scopes: list[Scope]


class Organisation(TypedDict):
    id: str
    slug: str
    name: Optional[str]
    approval: Approval


class ListedOrganisation(Organisation):
    tier: str


class Plan(TypedDict):
    tier: str
    name: str
    status: str
    ends_at: Optional[str]


class Meter(TypedDict):
    meter: str
    name: str
    used: int
    limit: Optional[int]
    resets_at: Optional[str]


class Entitlements(TypedDict):
    organisation: Organisation
    plan: Plan
    features: dict[str, bool]
    usage: list[Meter]


class _Entitlement(TypedDict):
    name: str
    allowed: bool
    allowed_by: list[str]


class Entitlement(_Entitlement, total=False):
    """Whether an organisation may use a feature, or one more of a meter. A feature has no numbers."""

    used: int
    limit: Optional[int]
    resets_at: Optional[str]


class UsageAnswer(TypedDict):
    meter: str
    used: int
    limit: Optional[int]
    resets_at: Optional[str]


class HeldUsage(UsageAnswer):
    hold: str


class Report(TypedDict):
    accepted: int
    duplicates: int


class _Gauge(TypedDict):
    meter: str
    used: int
    limit: Optional[int]


class Gauge(_Gauge, total=False):
    """`superseded` is present only if the value changed nothing, because its `at` is before the last change."""

    superseded: Literal[True]


class Member(TypedDict):
    user: User
    role: Role


class ManagedUser(TypedDict):
    """A user, as a key with the scope MANAGE sees one. `status` is their own, else that of their best organisation."""

    id: str
    email: str
    name: Optional[str]
    status: Literal["suspended", "unverified", "active", "awaiting_approval", "declined"]
    verified: bool
    created_at: str


class Link(TypedDict):
    url: str
    expires_at: str


class Invitation(Link):
    id: str


class Membership(TypedDict):
    user: str
    role: Role


class Override(TypedDict):
    """What was agreed with an organisation beside its subscriptions. A limit of None is unlimited."""

    tier: Optional[str]
    limits: dict[str, Optional[int]]
    features: dict[str, bool]
    grace_days: Optional[int]
    reason: str
    until: Optional[str]


class Change(TypedDict):
    """Later versions may add types: leave out what you do not know."""

    cursor: str
    at: str
    type: ChangeType
    organisation: Optional[str]
    user: Optional[str]
    data: dict[str, Any]


class Changes(TypedDict):
    changes: list[Change]
    next: str


class Token(TypedDict):
    token: str
    expires_at: str


class GatehouseError(Exception):
    """Gatehouse answered with an error, or did not answer: then `status` is 0 and `code` TIMEOUT or UNREACHABLE."""

    def __init__(self, status: int, code: Optional[str], sentence: str, body: Optional[dict[str, Any]] = None) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code
        #: The whole answer: LIMIT_REACHED has meter, used, limit and allowed_by; GONE has oldest.
        self.body: dict[str, Any] = body or {}
        #: A sentence for each invalid field.
        self.fields: dict[str, str] = self.body.get("fields", {})
        self.retry_after_seconds: Optional[float] = None


@dataclass(frozen=True)
class Gatehouse:
    """A client of one Gatehouse. Without an API key it can only ask about sessions.

    Requests that are safe to repeat are repeated, at most `retries` times, while the `timeout_seconds` of a call last.
    Every method raises GatehouseError.
    """

    url: str
    api_key: Optional[str] = field(default=None, repr=False)
    timeout_seconds: float = 3.0
    retries: int = 2
    #: PUBLIC_BASE_URL of Gatehouse, for browsers, if `url` is an internal address.
    public_url: Optional[str] = None

    def session(self, cookie_header: Optional[str]) -> Optional[Session]:
        """Returns the session of a request to your service by its Cookie header; None if it has none."""
        cookie = session_cookies(cookie_header)
        if cookie == "":
            return None
        try:
            return self._ask("GET", "/api/session", cookie=cookie)  # type: ignore[no-any-return]
        except GatehouseError as error:
            if error.status == 401:
                return None
            raise

    def end_session(self, cookie_header: Optional[str]) -> None:
        """Ends the session of a request to your service. Its cookies are no longer valid."""
        cookie = session_cookies(cookie_header)
        if cookie != "":
            self._ask("POST", "/api/logout", cookie=cookie)

    def sign_in_url(self, return_to: str) -> str:
        """The page that signs a browser in and leads back to `return_to`, of an origin in RETURN_ORIGINS."""
        return f"{self._public_origin()}/login?{urllib.parse.urlencode({'return_to': return_to})}"

    def sign_out_url(self, return_to: str) -> str:
        """The page that signs a browser out and leads back to `return_to`, of an origin in RETURN_ORIGINS."""
        return f"{self._public_origin()}/logout?{urllib.parse.urlencode({'return_to': return_to})}"

    def token_for_session(self, cookie_header: str, audience: Optional[str] = None) -> Token:
        """Exchanges the session of a request for a token that your other services verify."""
        cookie = session_cookies(cookie_header)
        if cookie == "":
            raise GatehouseError(401, "UNAUTHENTICATED", "Sign in first.")
        return self._ask("POST", "/api/token", body=_present(audience=audience), cookie=cookie)  # type: ignore[no-any-return]

    def token_for_key(self, audience: Optional[str] = None) -> Token:
        """Exchanges the API key for a token that your other services verify."""
        return self._ask("POST", "/api/token", body=_present(audience=audience))  # type: ignore[no-any-return]

    def entitlements(self, organisation: str) -> Entitlements:
        """Returns the limits and features of an organisation's plan, by its id or slug."""
        return self._ask("GET", f"/api/organisations/{_quoted(organisation)}/entitlements")  # type: ignore[no-any-return]

    def check(self, organisation: str, name: str) -> Entitlement:
        """Returns whether an organisation may use a feature or one more of a meter. Only `reserve` guarantees an amount."""
        path = f"/api/organisations/{_quoted(organisation)}/entitlements/{_quoted(name)}"
        return self._ask("GET", path)  # type: ignore[no-any-return]

    def reserve(
        self, organisation: str, meter: str, amount: int = 1, idempotency_key: Optional[str] = None
    ) -> UsageAnswer:
        """Reserves an amount of a meter within the plan's limit. Raises LIMIT_REACHED above it; a key keeps its answer."""
        return self._use("reserve", organisation, meter, amount, idempotency_key)  # type: ignore[no-any-return]

    def hold(
        self, organisation: str, meter: str, expires: int, amount: int = 1, idempotency_key: Optional[str] = None
    ) -> HeldUsage:
        """Reserves an amount for `expires` seconds. It counts for good once `commit` is called with the answer's hold."""
        return self._use("reserve", organisation, meter, amount, idempotency_key, expires)  # type: ignore[no-any-return]

    def commit(self, hold: str) -> UsageAnswer:
        """Makes what a hold reserved final. Raises CONFLICT if it was released or has expired."""
        return self._ask("POST", "/api/usage/commit", body={"hold": hold})  # type: ignore[no-any-return]

    def release_hold(self, hold: str) -> UsageAnswer:
        """Gives what a hold reserved back. Raises CONFLICT if it was committed or has expired."""
        return self._ask("POST", "/api/usage/release", body={"hold": hold})  # type: ignore[no-any-return]

    def release(
        self, organisation: str, meter: str, amount: int = 1, idempotency_key: Optional[str] = None
    ) -> UsageAnswer:
        """Gives an amount of a gauge back."""
        return self._use("release", organisation, meter, amount, idempotency_key)  # type: ignore[no-any-return]

    def report(self, records: list[dict[str, Any]]) -> Report:
        """Counts up to 1,000 records (organisation, meter, amount, idempotency_key, at), all or none."""
        keyed = [{"idempotency_key": str(uuid.uuid4()), **record} for record in records]
        return self._ask("POST", "/api/usage/report", body={"records": keyed})  # type: ignore[no-any-return]

    def set_usage(self, organisation: str, meter: str, used: int, at: Optional[str] = None) -> Gauge:
        """Sets a gauge to its true value. With `at` (ISO 8601) an older value changes nothing, and the answer says so."""
        body = _present(organisation=organisation, used=used, at=at)
        return self._ask(  # type: ignore[no-any-return]
            "PUT", f"/api/usage/{_quoted(meter)}", body=body, repeatable=at is not None
        )

    def organisations(self) -> Iterator[ListedOrganisation]:
        """Yields all organisations, for a key of the deployment."""
        return self._pages("/api/organisations", "organisations")

    def members(self, organisation: str) -> Iterator[Member]:
        """Yields the members of an organisation."""
        return self._pages(f"/api/organisations/{_quoted(organisation)}/members", "members")

    def changes(self, after: Optional[str] = None, wait_seconds: int = 0) -> Changes:
        """Returns the changes after a cursor. Without one: from now on; with "0": all that is kept."""
        query = _present(after=after, wait=wait_seconds)
        return self._ask("GET", "/api/changes", query=query, wait_seconds=wait_seconds)  # type: ignore[no-any-return]

    def _use(
        self,
        operation: str,
        organisation: str,
        meter: str,
        amount: int,
        key: Optional[str],
        expires: Optional[int] = None,
    ) -> Any:
        body = _present(
            organisation=organisation,
            meter=meter,
            amount=amount,
            expires=expires,
            idempotency_key=key or str(uuid.uuid4()),
        )
        return self._ask("POST", f"/api/usage/{operation}", body=body)

    # What operators do in the console, for a key with the scope MANAGE. What creates or deletes is never repeated.

    def users(self, email: Optional[str] = None) -> Iterator[ManagedUser]:
        """Yields all users, or the one with an address."""
        return self._pages("/api/users", "users", email=email)

    def create_user(
        self, email: str, name: Optional[str] = None, verified: bool = False, organisation: Optional[str] = None
    ) -> ManagedUser:
        """Creates a user. With `verified` you vouch for the address. CONFLICT has the user's `id` in its `body`."""
        named = None if organisation is None else {"name": organisation}
        body = _present(email=email, name=name, verified=verified, organisation=named)
        return self._once("POST", "/api/users", body)  # type: ignore[no-any-return]

    def act_on_user(
        self, user: str, action: Literal["suspend", "restore", "end-sessions"], keep_keys: Optional[bool] = None
    ) -> ManagedUser:
        """A suspension revokes the API keys that the user made, unless `keep_keys`."""
        body = _present(keep_keys=keep_keys)
        return self._ask("POST", f"/api/users/{_quoted(user)}/{action}", body=body)  # type: ignore[no-any-return]

    def password_link(self, user: str) -> Link:
        """Creates a link that sets a password once, by a key that was made with --password-links."""
        return self._once("POST", f"/api/users/{_quoted(user)}/password-link")  # type: ignore[no-any-return]

    def delete_user(self, user: str, keep_keys: bool = False) -> None:
        self._once("DELETE", f"/api/users/{_quoted(user)}", {"keep_keys": keep_keys})

    def organisation(self, organisation: str) -> ListedOrganisation:
        return self._ask("GET", _organisation(organisation))  # type: ignore[no-any-return]

    def create_organisation(self, name: str, owner: Optional[str] = None) -> ListedOrganisation:
        return self._once("POST", "/api/organisations", _present(name=name, owner=owner))  # type: ignore[no-any-return]

    def rename_organisation(self, organisation: str, name: str) -> ListedOrganisation:
        return self._ask("PATCH", _organisation(organisation), body={"name": name})  # type: ignore[no-any-return]

    def act_on_organisation(
        self, organisation: str, action: Literal["approve", "decline", "suspend", "restore"], reason: Optional[str] = None
    ) -> ListedOrganisation:
        """A decline needs a reason."""
        path = f"{_organisation(organisation)}/{action}"
        return self._ask("POST", path, body=_present(reason=reason))  # type: ignore[no-any-return]

    def delete_organisation(self, organisation: str) -> None:
        """Its subscriptions end first."""
        self._once("DELETE", _organisation(organisation))

    def add_member(self, organisation: str, user: str, role: Role) -> Membership:
        path = f"{_organisation(organisation)}/members"
        return self._once("POST", path, {"user": user, "role": role})  # type: ignore[no-any-return]

    def set_role(self, organisation: str, user: str, role: Role) -> Membership:
        path = f"{_organisation(organisation)}/members/{_quoted(user)}"
        return self._ask("PATCH", path, body={"role": role})  # type: ignore[no-any-return]

    def remove_member(self, organisation: str, user: str, keep_keys: bool = False) -> None:
        self._once("DELETE", f"{_organisation(organisation)}/members/{_quoted(user)}", {"keep_keys": keep_keys})

    def invitations(self, organisation: str) -> Iterator[dict[str, Any]]:
        return self._pages(f"{_organisation(organisation)}/invitations", "invitations")

    def invite(self, organisation: str, email: str, role: Literal["admin", "member", "viewer"]) -> Invitation:
        """Creates an invitation, whose link you hand over. The address is a note."""
        path = f"{_organisation(organisation)}/invitations"
        return self._once("POST", path, {"email": email, "role": role})  # type: ignore[no-any-return]

    def delete_invitation(self, organisation: str, invitation: str) -> None:
        self._once("DELETE", f"{_organisation(organisation)}/invitations/{_quoted(invitation)}")

    def override(self, organisation: str) -> Override:
        """Returns what was agreed. Raises NOT_FOUND where nothing is."""
        return self._ask("GET", f"{_organisation(organisation)}/override")  # type: ignore[no-any-return]

    def set_override(self, organisation: str, agreed: Mapping[str, Any]) -> Override:
        """States what was agreed (tier, limits, features, grace_days, reason, until), in place of what was before."""
        return self._ask("PUT", f"{_organisation(organisation)}/override", body=agreed)  # type: ignore[no-any-return]

    def end_override(self, organisation: str) -> None:
        self._once("DELETE", f"{_organisation(organisation)}/override")

    def _once(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None) -> Any:
        return self._ask(method, path, body=body or {}, repeatable=False)

    def _pages(self, path: str, name: str, **query: Any) -> Iterator[Any]:
        after: Optional[str] = None
        while True:
            page = self._ask("GET", path, query=_present(after=after, **query))
            yield from page[name]
            after = page["next"]
            if after is None:
                return

    def _public_origin(self) -> str:
        return (self.public_url or self.url).rstrip("/")

    def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Mapping[str, Any]] = None,
        cookie: Optional[str] = None,
        repeatable: bool = True,
        wait_seconds: float = 0,
    ) -> Any:
        deadline = time.monotonic() + self.timeout_seconds + wait_seconds
        attempt = 0
        while True:
            try:
                return self._ask_once(method, path, query, body, cookie, deadline - time.monotonic())
            except GatehouseError as error:
                is_passing = error.status in (0, 429, 502, 503, 504)
                pause = (error.retry_after_seconds or 0) + random.random() * 0.1 * 2**attempt
                if not (repeatable and is_passing) or attempt >= self.retries:
                    raise
                if time.monotonic() + pause >= deadline:
                    raise
                time.sleep(pause)
                attempt += 1

    def _ask_once(
        self,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]],
        body: Optional[Mapping[str, Any]],
        cookie: Optional[str],
        timeout_seconds: float,
    ) -> Any:
        address = self.url.rstrip("/") + path + (f"?{urllib.parse.urlencode(query)}" if query else "")
        headers = {"accept": "application/json"}
        # Gatehouse ignores a cookie beside a key.
        if cookie is not None:
            headers["cookie"] = cookie
        elif self.api_key is not None:
            headers["authorization"] = f"Bearer {self.api_key}"
        data = None
        if body is not None:
            headers["content-type"] = "application/json"
            data = json.dumps(body).encode()
        request = urllib.request.Request(address, data=data, headers=headers, method=method)
        try:
            with _opener.open(request, timeout=max(timeout_seconds, 0.001)) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise _error_of(error) from None
        except _timeouts as error:
            raise GatehouseError(0, "TIMEOUT", "Gatehouse did not answer in time.") from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            if isinstance(getattr(error, "reason", None), _timeouts):
                raise GatehouseError(0, "TIMEOUT", "Gatehouse did not answer in time.") from error
            raise GatehouseError(0, "UNREACHABLE", "Gatehouse cannot be reached.") from error


def session_cookies(header: Optional[str]) -> str:
    """Returns the cookies of a request that name a session of Gatehouse: the others are not forwarded."""
    pairs = [pair.strip() for pair in (header or "").split(";")]
    found = [pair for pair in pairs if pair.startswith(("__Host-session=", "__Secure-gatehouse="))]
    # Gatehouse uses this name on http loopback.
    return "; ".join(found or [pair for pair in pairs if pair.startswith("session=")])


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


_opener = urllib.request.build_opener(_NoRedirect)
# Two classes before Python 3.10.
_timeouts = (TimeoutError, socket.timeout)


def _error_of(error: urllib.error.HTTPError) -> GatehouseError:
    try:
        body = json.loads(error.read())
    except (OSError, ValueError, http.client.HTTPException):
        body = {}
    if not isinstance(body, dict):
        body = {}
    sentence = body.get("error", f"Gatehouse answered {error.code}.")
    answer = GatehouseError(error.code, body.get("code"), sentence, body)
    retry_after = error.headers.get("retry-after", "")
    answer.retry_after_seconds = float(retry_after) if retry_after.isdigit() else None
    return answer


def _present(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _organisation(named: str) -> str:
    return f"/api/organisations/{_quoted(named)}"


def _quoted(text: str) -> str:
    """An empty id, or one of dots, would make another path of it: that of a list, or of all that the id is a part of."""
    if text in ("", ".", ".."):
        raise GatehouseError(404, "NOT_FOUND", 'No id is empty, "." or "..".')
    return urllib.parse.quote(text, safe="")
