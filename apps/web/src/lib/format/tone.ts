export type Tone = 'plain' | 'accent' | 'good' | 'warn' | 'bad';
