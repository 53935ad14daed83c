import net from 'node:net';
import { UserError } from './log.mjs';
import { wasKilled } from './running-demo.mjs';

const loopbacks = ['127.0.0.1', '::1'];

/** The longest time that a service takes to shut down. */
const endingMilliseconds = 25_000;

/**
 * Returns the port of the service; the next two are the sandbox's, a fourth the
 * example's. If the last start was killed, waits for its processes to release the ports.
 *
 * @throws UserError if PORT is invalid or one of the ports is in use.
 */
export async function choosePort(environment, count) {
  const port = Number(environment.PORT || 3000);
  if (!Number.isInteger(port) || port < 1 || port > 65_532) {
    throw new UserError(
      `PORT is ${environment.PORT}, which is not a port from 1 to 65532: choose another, for example PORT=3000.`,
    );
  }

  const giveUpAt = Date.now() + (wasKilled(environment) ? endingMilliseconds : 0);
  let taken = await firstTaken(port, count);
  while (taken !== null && Date.now() < giveUpAt) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    taken = await firstTaken(port, count);
  }
  if (taken === null) return port;

  throw new UserError(
    `Port ${taken} is in use. Stop what listens there, or choose another: PORT=${await firstFree(port + 100, count)} (it takes that port and the ${count - 1} after it).`,
  );
}

async function firstFree(port, count) {
  if (port > 65_000) return 3000;
  return (await firstTaken(port, count)) === null ? port : firstFree(port + 100, count);
}

async function firstTaken(port, count) {
  for (let each = port; each < port + count; each++) if (!(await isFree(each))) return each;
  return null;
}

/**
 * Checks both loopback addresses, because browsers try ::1 for localhost first. Connects instead of
 * listening, so that two concurrent checks do not disturb each other.
 */
async function isFree(port) {
  for (const host of loopbacks) if (await answers(port, host)) return false;
  return true;
}

function answers(port, host) {
  const socket = net.connect({ port, host });
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  }).finally(() => socket.destroy());
}
