/** The name that pages show for an organisation: its own, or its slug if it has none. */
export function organisationName({ name, slug }: { name: string | null; slug: string }): string {
  return name ?? slug;
}
