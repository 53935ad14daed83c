import fs from 'node:fs';
import { parseEnv } from 'node:util';

/**
 * Adds the variables of the file .env in the working directory to the environment. A variable
 * that is set and not empty keeps its value. With GATEHOUSE_ENV_FILE=off, as in the sandbox and
 * in tests, the file is not read.
 *
 * @throws Error whose message is a sentence, if the file exists and cannot be read.
 */
export function loadEnvFile(environment: NodeJS.ProcessEnv = process.env): void {
  if (environment.GATEHOUSE_ENV_FILE === 'off') return;

  for (const [name, value] of Object.entries(parseEnv(read()))) {
    if (!environment[name]?.trim()) environment[name] = value;
  }
}

function read(): string {
  try {
    return fs.readFileSync('.env', 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw new Error(`The file .env in this folder cannot be read (${code}).`, { cause: error });
  }
}
