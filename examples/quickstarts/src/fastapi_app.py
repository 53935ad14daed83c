import os

from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse
from gatehouse import Gatehouse, GatehouseError, Session

gatehouse = Gatehouse(
    os.environ["GATEHOUSE_URL"],
    api_key=os.environ["GATEHOUSE_API_KEY"],
    public_url=os.environ.get("GATEHOUSE_PUBLIC_URL"),
)
origin = os.environ["ORIGIN"]
app = FastAPI()


class SignInFirst(Exception):
    pass


def signed_in(request: Request) -> Session:
    session = gatehouse.session(request.headers.get("cookie"))
    if session is None:
        raise SignInFirst
    return session


@app.exception_handler(SignInFirst)
def sign_in(request: Request, _: SignInFirst):
    if "text/html" in request.headers.get("accept", ""):
        page = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(gatehouse.sign_in_url(origin + page), status_code=302)
    return JSONResponse({"error": "Sign in first.", "code": "UNAUTHENTICATED"}, status_code=401)


@app.exception_handler(GatehouseError)
def refused(_: Request, error: GatehouseError):
    # 403: no access, or LIMIT_REACHED, each with a sentence for people. Anything else: Gatehouse is away.
    status = 403 if error.status == 403 else 503
    return JSONResponse({"error": str(error), "code": error.code}, status_code=status)


@app.get("/")
def home(session: Session = Depends(signed_in)):
    return {"email": session["user"]["email"], "plan": gatehouse.entitlements(session["organisation"]["id"])["plan"]}


@app.post("/searches")
def search(session: Session = Depends(signed_in)):
    return gatehouse.reserve(session["organisation"]["id"], "api_calls")


@app.get("/sign-out")
def sign_out():
    return RedirectResponse(gatehouse.sign_out_url(origin), status_code=302)
