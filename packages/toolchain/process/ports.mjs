import net from 'node:net';
import { wasKilled } from '../demo/running-demo.mjs';
import { UserError } from './log.mjs';

const loopbacks = ['127.0.0.1', '::1'];

/** The longest time that a service takes to shut down. */
const endingMilliseconds = 25_000;

/**
 * Returns the port of the service; the next two are the sandbox's. If the last start was killed, waits
 * for its processes to release the ports.
 *
 * @throws UserError if PORT is invalid or one of the three ports is in use.
 */
export async function choosePort(environment) {
  const port = Number(environment.PORT || 3000);
  if (!Number.isInteger(port) || port < 1 || port > 65_533) {
    throw new UserError(
      `PORT is ${environment.PORT}, which is not a port from 1 to 65533: choose another, for example PORT=3000.`,
    );
  }

  const giveUpAt = Date.now() + (wasKilled(environment) ? endingMilliseconds : 0);
  let taken = await firstTaken(port);
  while (taken !== null && Date.now() < giveUpAt) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    taken = await firstTaken(port);
  }
  if (taken === null) return port;

  throw new UserError(
    `Port ${taken} is in use. Stop what listens there, or choose another: PORT=${await firstFree(port + 100)} npm start (it takes that port and the two after it).`,
  );
}

async function firstFree(port) {
  if (port > 65_000) return 3000;
  return (await firstTaken(port)) === null ? port : firstFree(port + 100);
}

async function firstTaken(port) {
  for (const each of [port, port + 1, port + 2]) if (!(await isFree(each))) return each;
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
