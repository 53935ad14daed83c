import net from 'node:net';
import { Sentence } from './say.mjs';

const loopbacks = ['127.0.0.1', '::1'];

/** The port to start on; the two after it belong to the sandbox. Throws a sentence when one is taken. */
export async function choosePort(environment) {
  const port = Number(environment.PORT || 3000);
  if (!Number.isInteger(port) || port < 1 || port > 65_533) {
    throw new Sentence(
      `PORT is ${environment.PORT}, which is no port between 1 and 65533: choose another, for example PORT=3000.`,
    );
  }

  const taken = await firstTaken(port);
  if (taken === null) return port;

  throw new Sentence(
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

/** On both loopbacks: the browser tries ::1 for localhost first. */
async function isFree(port) {
  for (const host of loopbacks) {
    const code = await tryListening(port, host);
    if (code === 'EACCES')
      throw new Sentence(`Port ${port} is not open to this user: choose one above 1023, for example PORT=3000.`);
    if (code === 'EADDRINUSE') return false;
  }
  return true;
}

function tryListening(port, host) {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', (error) => resolve(error.code));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
