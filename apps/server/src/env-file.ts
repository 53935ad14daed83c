import fs from 'node:fs';
import path from 'node:path';

const releaseFile = '/etc/gatehouse.env';

/**
 * Adds the variables of one file to the environment: the file that GATEHOUSE_ENV_FILE names (`off`: none), else .env in
 * the working directory, else, in a release, /etc/gatehouse.env. A variable that is set and not empty keeps its
 * value. Returns warnings about lines that other programs read differently.
 *
 * @throws Error whose message is a sentence, if a file that was named is missing, or one cannot be read.
 */
export function loadEnvFile(environment: NodeJS.ProcessEnv = process.env, isInRelease = isRelease()): string[] {
  const named = environment.GATEHOUSE_ENV_FILE?.trim() || null;
  if (named === 'off') return [];

  const candidates = named === null ? ['.env', ...(isInRelease ? [releaseFile] : [])] : [named];
  for (const file of candidates) {
    const text = read(file, named !== null);
    if (text === null) continue;
    const { values, warnings } = parseEnvFile(text);
    for (const [name, value] of values) if (!environment[name]?.trim()) environment[name] = value;
    return warnings.map((warning) => `${file}: ${warning}`);
  }
  return [];
}

/** Whether this program runs from an unpacked release, where server.js and operator.js are at the top. */
export function isRelease(program = process.argv[1] ?? ''): boolean {
  const folder = path.basename(path.dirname(program));
  return ['server.js', 'operator.js'].includes(path.basename(program)) && folder !== 'dist';
}

function read(file: string, isNamed: boolean): string | null {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !isNamed) return null;
    const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    throw new Error(`The environment file ${file} ${reason}: correct GATEHOUSE_ENV_FILE or the file.`, {
      cause: error,
    });
  }
}

const isBlank = (character: string) => /[ \t\n]/.test(character);

/**
 * Parses an environment file as systemd does (systemd.exec(5), EnvironmentFile=; src/basic/env-file.c), so that the
 * admin commands see what the service sees: `#` and `;` begin a comment only where a line begins, quotes may stand
 * around any part of a value and over several lines, a backslash takes the next character as it is and joins lines.
 */
export function parseEnvFile(content: string): { values: Map<string, string>; warnings: string[] } {
  const text = content.replace(/\r\n?/g, '\n');
  const values = new Map<string, string>();
  const warnings: string[] = [];
  let at = 0;
  let line = 1;
  const next = () => {
    const character = text[at++] ?? '';
    if (character === '\n') line++;
    return character;
  };

  while (at < text.length) {
    const first = next();
    if (isBlank(first)) continue;
    if (first === '#' || first === ';') skipLine();
    else readAssignment(first);
  }
  return { values, warnings };

  function skipLine(): void {
    for (let character = next(); character !== '\n' && character !== ''; ) character = next();
  }

  function readAssignment(first: string): void {
    const begun = line;
    let name = first;
    for (let character = next(); character !== '='; character = next()) {
      if (character === '\n' || character === '') {
        ignored(begun);
        return;
      }
      name += character;
    }
    const value = readValue(name.trimEnd());
    if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name.trimEnd())) values.set(name.trimEnd(), value);
    else ignored(begun);
  }

  function ignored(number: number): void {
    warnings.push(`line ${number} is ignored, because it is not of the form NAME=VALUE.`);
  }

  function readValue(name: string): string {
    let value = '';
    let kept = 0;
    // Until the first character outside quotes, blanks are skipped and a quote begins a quoted part.
    let hasBegun = false;
    let hasHash = false;
    for (let character = next(); character !== '\n' && character !== ''; character = next()) {
      const isQuote = character === '"' || character === "'";
      if (character === '\\') {
        const escaped = next();
        if (escaped !== '\n') value += escaped;
        hasBegun = true;
      } else if (isQuote && !hasBegun) value += readQuoted(character);
      else if (!isBlank(character)) {
        value += character;
        hasHash ||= character === '#';
        hasBegun = true;
      } else {
        if (hasBegun) value += character;
        continue;
      }
      kept = value.length;
    }
    if (hasHash) {
      warnings.push(`${name} has a # outside quotes, which belongs to its value: put the value into double quotes.`);
    }
    return value.slice(0, kept);
  }

  /** In double quotes a backslash escapes these four and the end of a line; in single quotes nothing. */
  function readQuoted(quote: string): string {
    let value = '';
    for (let character = next(); character !== quote && character !== ''; character = next()) {
      if (quote === "'" || character !== '\\') value += character;
      else {
        const escaped = next();
        if ('"\\`$'.includes(escaped)) value += escaped;
        else if (escaped !== '\n') value += `\\${escaped}`;
      }
    }
    return value;
  }
}
