export const name = 'Larch & <b>Sons</b>';

/** The environment variables that brand the pages with a company's name. */
export const branding = {
  SERVICE_NAME: name,
  SERVICE_URL: 'https://app.company.example/',
  SUPPORT_EMAIL: 'help@company.example',
  IDP_NAME: 'Company <ID>',
};
