/** The field of a form that names the user for whom its page was rendered: see RenderedFor.svelte. */
export const renderedForField = 'rendered_for';
