import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { ThirdParty } from './third-party.ts';

type Component = { group?: string; name: string; version: string; 'bom-ref': string };

type Bom = {
  serialNumber: string;
  metadata: { timestamp: string; component: { version: string } };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
};

/**
 * Returns the software bill of materials of a release as CycloneDX 1.6 in JSON: what pnpm tells of the packages that the
 * builds contain or may contain. Of one commit it is always the same: its time is SOURCE_DATE_EPOCH, its serial number
 * comes from its content.
 */
export function billOfMaterials(root: string, version: string, packages: ThirdParty[]): string {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-spec-version', '1.6', '--sbom-type', 'application'];
  const filters = ['api', 'server', 'web', 'languages', 'embedded-postgres', 'sandbox', 'payment-sandbox'].map(
    (name) => `--filter=@gatehouse/${name}`,
  );
  const told = execFileSync('pnpm', [...filters, ...words], { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 ** 2 });

  const bom: Bom = JSON.parse(told);
  const kept = new Set(packages.map(({ name, version: its }) => `${name}@${its}`));
  const inOrder = (one: string, other: string) => (one < other ? -1 : 1);
  const components = bom.components.filter(({ group, name, version: its }) =>
    kept.has(`${group === undefined ? '' : `${group}/`}${name}@${its}`),
  );
  // pnpm lists them in any order.
  components.sort((one, other) => inOrder(one['bom-ref'], other['bom-ref']));
  const missing = kept.size - new Set(components.map((each) => each['bom-ref'])).size;
  if (missing !== 0) throw new Error(`The bill of materials lacks ${missing} packages whose licences are told.`);

  const references = new Set(components.map((each) => each['bom-ref']));
  bom.metadata.component.version = version;
  bom.metadata.timestamp = new Date(Number(process.env.SOURCE_DATE_EPOCH ?? 0) * 1000).toISOString();
  bom.components = components;
  bom.dependencies = bom.dependencies
    .filter(({ ref }) => references.has(ref))
    .map(({ ref, dependsOn = [] }) => ({
      ref,
      dependsOn: dependsOn.filter((each) => references.has(each)).sort(inOrder),
    }))
    .sort((one, other) => inOrder(one.ref, other.ref));
  bom.serialNumber = `urn:uuid:${uuidOf(JSON.stringify([version, components]))}`;
  return `${JSON.stringify(bom, null, 2)}\n`;
}

/** A UUID of version 8 (RFC 9562 §5.8), from the hash of a text. */
function uuidOf(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex');
  const variant = ((Number.parseInt(hash.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `8${hash.slice(13, 16)}`,
    `${variant}${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ].join('-');
}
