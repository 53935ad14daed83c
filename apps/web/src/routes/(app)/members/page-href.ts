/** A page of the members list: its search, and the cursor after which the page begins. */
interface ListPosition {
  search: string;
  after: string | null;
}

/** The address of a page of the members list, with further parameters such as the dialog to open. */
export function pageHref({ search, after }: ListPosition, more: Record<string, string> = {}): string {
  const parameters = new URLSearchParams({ ...(search && { q: search }), ...(after && { after }), ...more });
  return parameters.size === 0 ? '/members' : `/members?${parameters}`;
}
