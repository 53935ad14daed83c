#!/bin/sh
# Builds the image of the Dockerfile with the engine that is installed, and waits until a container of it answers /healthz.
# Without an engine it says so and ends with 1: nothing of the image is tried then.
set -eu
cd "$(dirname "$0")/.."

for engine in ${ENGINE:-docker podman}; do
  if command -v "$engine" > /dev/null && "$engine" info > /dev/null 2>&1; then break; fi
  engine=
done
if [ -z "$engine" ]; then
  echo 'There is no running container engine here (docker or podman): the image was not built.' >&2
  exit 1
fi

version=$(node --input-type=module -e "console.log((await import('./packages/toolchain/version.mjs')).buildVersion())")
"$engine" build --build-arg GATEHOUSE_VERSION="$version" --tag "gatehouse:$version" .
echo "gatehouse:$version is built by $engine."

# Without a database it answers, and is not ready: that is what the health check has to tell.
container=$("$engine" run --detach --rm --env PUBLIC_BASE_URL=https://id.example.com \
  --env DATABASE_URL=postgres://gatehouse@database.invalid/gatehouse "gatehouse:$version")
trap '"$engine" stop "$container" > /dev/null' EXIT
for second in 1 2 3 4 5 6 7 8 9 10; do
  answer=$("$engine" exec "$container" node -e \
    "fetch('http://127.0.0.1:3000/healthz').then((answer) => console.log(answer.status), () => console.log('none'))")
  [ "$answer" = 200 ] && break
  sleep 1
done
[ "$answer" = 200 ] || { echo 'The container does not answer /healthz.' >&2; exit 1; }
echo 'A container of it answers /healthz.'
