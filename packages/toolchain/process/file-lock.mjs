import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { log, UserError } from './log.mjs';
import { fromRoot } from './paths.mjs';
import { isAlive } from './processes.mjs';

/** Runs the work while no other command in this checkout installs or builds. Waits for the other one first. */
export async function withFileLock(work) {
  const file = fromRoot('.tools', 'install.lock');
  let hasLogged = false;
  while (!acquire(file)) {
    if (!hasLogged) log('Another command is installing or building here; waiting for it.');
    hasLogged = true;
    await pause(200);
  }

  try {
    return await work();
  } finally {
    fs.rmSync(file, { force: true });
  }
}

function acquire(file) {
  try {
    fs.mkdirSync(fromRoot('.tools'), { recursive: true });
    fs.writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST')
      throw new UserError(`This folder cannot be written (${error.code}): run as its owner.`);
    if (!isHeld(file)) fs.rmSync(file, { force: true });
    return false;
  }
}

/** Whether the process that made the file still runs. A killed process leaves its file. */
function isHeld(file) {
  try {
    const pid = Number(fs.readFileSync(file, 'utf8'));
    return pid === 0 || isAlive(pid);
  } catch {
    return false;
  }
}
