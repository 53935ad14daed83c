import { error } from '@sveltejs/kit';

/** The fields of a form post. A body that is none answers 400 instead of failing. */
export async function formFields(request: Request): Promise<FormData> {
  return request.formData().catch(() => error(400, 'This form could not be read.'));
}

/** A text field, as it was typed; empty when it is missing or a file. */
export function text(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}

/** All texts of a field that may stand several times. */
export function texts(form: FormData, name: string): string[] {
  return form.getAll(name).filter((value) => typeof value === 'string');
}
