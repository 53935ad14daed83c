import fs from 'node:fs';

/** Returns the value of a JSON file; null if the file is missing or is not JSON. */
export function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}
