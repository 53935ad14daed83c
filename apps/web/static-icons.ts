import type { Plugin } from 'vite';

interface IconData {
  node: [tag: string, attributes: Record<string, string>][];
}

/**
 * Compiles each icon of @lucide/svelte to plain markup with a class. Its component builds the shapes from
 * data in the browser, by code that every page would load. The class `icon` of app.css draws the lines.
 */
export function staticIcons(): Plugin {
  return {
    name: 'static-icons',
    apply: 'build',
    enforce: 'pre',
    transform: {
      filter: { id: /\/@lucide\/svelte\/dist\/icons\/[\w-]+\.svelte$/ },
      handler(code, id) {
        const data = /^const iconData = (\{.*\});$/m.exec(code)?.[1];
        if (!data) return this.error(`The shapes of ${id} were not found.`);

        const { node } = JSON.parse(data) as IconData;
        return { code: component(node.map(shape).join('')), map: { mappings: '' } };
      },
    },
  };
}

function component(shapes: string): string {
  return `<script>let { class: look } = $props();</script>
<svg class="icon {look}" aria-hidden="true" width="24" height="24" viewBox="0 0 24 24">${shapes}</svg>`;
}

function shape([tag, attributes]: IconData['node'][number]): string {
  const written = Object.entries(attributes).map(([name, value]) => `${name}="${value}"`);
  return `<${tag} ${written.join(' ')} />`;
}
