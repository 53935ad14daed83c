/** One thing that the passing of time causes. */
export interface Step {
  /** When it is due, in seconds of the provider's clock. */
  at: number;
  /** A description for the control page. */
  about: string;
  run(): void;
}
