// Exits with 0 if the service on this machine is ready, else with 1: for the health check of a container.
const url = `http://127.0.0.1:${process.env.PORT || 3000}/readyz`;
const answer = await fetch(url, { signal: AbortSignal.timeout(2_500) }).catch(() => null);
process.exit(answer?.ok ? 0 : 1);
