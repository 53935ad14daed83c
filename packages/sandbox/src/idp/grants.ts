import type { Adapter, AdapterPayload } from 'oidc-provider';

interface Entry {
  payload: AdapterPayload;
  expiresAt: number;
}

/** Returns adapters that keep attempts, codes and sessions in memory. */
export function createGrants(): (model: string) => Adapter {
  const entries = new Map<string, Entry>();
  return (model) => adapterFor(model, entries);
}

function adapterFor(model: string, entries: Map<string, Entry>): Adapter {
  const prefix = `${model}:`;

  function read(key: string): AdapterPayload | undefined {
    const entry = entries.get(key);
    if (entry && entry.expiresAt > Date.now()) return entry.payload;
    entries.delete(key);
    return undefined;
  }

  return {
    async upsert(id, payload, expiresIn) {
      dropExpired(entries);
      entries.set(prefix + id, { payload, expiresAt: expiresIn ? Date.now() + expiresIn * 1000 : Infinity });
    },
    async find(id) {
      return read(prefix + id);
    },
    async findByUid(uid) {
      for (const [key, { payload }] of entries) if (key.startsWith(prefix) && payload.uid === uid) return read(key);
      return undefined;
    },
    async findByUserCode() {
      return undefined;
    },
    async consume(id) {
      const payload = read(prefix + id);
      if (payload) payload.consumed = Math.floor(Date.now() / 1000);
    },
    async destroy(id) {
      entries.delete(prefix + id);
    },
    async revokeByGrantId(grantId) {
      for (const [key, { payload }] of entries) if (payload.grantId === grantId) entries.delete(key);
    },
  };
}

function dropExpired(entries: Map<string, Entry>): void {
  if (entries.size % 200 !== 0) return;
  for (const [key, { expiresAt }] of entries) if (expiresAt <= Date.now()) entries.delete(key);
}
