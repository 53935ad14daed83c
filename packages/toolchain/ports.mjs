import net from 'node:net';
import { UserError } from './log.mjs';
import { wasKilled } from './running-demo.mjs';

const loopbacks = ['127.0.0.1', '::1'];

/** As long as a service that is told to end may take. */
const endingMilliseconds = 25_000;

/**
 * The port to start on; the two after it belong to the sandbox. Throws a sentence when one is
 * taken, at once unless a start that was killed may be about to free it.
 */
export async function choosePort(environment) {
  const port = Number(environment.PORT || 3000);
  if (!Number.isInteger(port) || port < 1 || port > 65_533) {
    throw new UserError(
      `PORT is ${environment.PORT}, which is no port between 1 and 65533: choose another, for example PORT=3000.`,
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

/** On both loopbacks: the browser tries ::1 for localhost first. By calling, so that two starts at once do not see each other. */
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
