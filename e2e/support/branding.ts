export const name = 'Larch & <b>Sons</b>';

/** The variables of a company that shows its own name on the pages. */
export const branding = {
  SERVICE_NAME: name,
  SERVICE_URL: 'https://app.company.example/',
  SUPPORT_EMAIL: 'help@company.example',
  IDP_NAME: 'Company <ID>',
};
