import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { UserError } from './log.mjs';

/**
 * Returns the secrets that the service and the sandbox share, and the demo accounts' passwords by address.
 * They are created once per data directory, in a file that only its owner can read.
 */
export function sandboxSecrets(dataDir, demoAddresses = []) {
  const file = path.join(dataDir, 'sandbox-secrets.json');
  const known = read(file);
  const secrets = {
    idpClientSecret: `sandbox-${random()}`,
    paymentSecretKey: `sk_test_${random()}`,
    paymentWebhookSecret: `sandbox-${random()}`,
    secretKey: `sandbox-${random(32)}`,
    ...known,
    passwords: {
      ...Object.fromEntries(demoAddresses.map((email) => [email, `demo-${random(6)}`])),
      ...known.passwords,
    },
  };
  if (JSON.stringify(secrets) !== JSON.stringify(known)) writePrivate(file, secrets);
  return secrets;
}

/** Writes a JSON file atomically, readable only by its owner. */
export function writePrivate(file, value) {
  fs.writeFileSync(`${file}.new`, JSON.stringify(value), { mode: 0o600 });
  fs.renameSync(`${file}.new`, file);
}

function random(bytes = 16) {
  return randomBytes(bytes).toString('hex');
}

function read(file) {
  if (!fs.existsSync(file)) return {};
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    throw new UserError(`${file} cannot be read: make it readable, or remove it to create new secrets.`);
  }
}
