import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { place } from './places.mjs';
import { Sentence, say } from './say.mjs';

/** Runs the work while no other command of this folder installs or builds. */
export async function alone(work) {
  const file = place('.tools', 'busy');
  let told = false;
  while (!take(file)) {
    if (!told) say('Another command is installing or building here; waiting for it.');
    told = true;
    await pause(200);
  }

  try {
    return await work();
  } finally {
    fs.rmSync(file, { force: true });
  }
}

function take(file) {
  try {
    fs.mkdirSync(place('.tools'), { recursive: true });
    fs.writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw new Sentence(`This folder cannot be written (${error.code}): run as its owner.`);
    if (!isHeld(file)) fs.rmSync(file, { force: true });
    return false;
  }
}

/** Whoever was killed in the middle holds it no longer. */
function isHeld(file) {
  try {
    const pid = Number(fs.readFileSync(file, 'utf8'));
    if (pid === 0) return true;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
