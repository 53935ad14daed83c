ALTER TABLE "payment_customers" ADD COLUMN "currency" text;--> statement-breakpoint
ALTER TABLE "payment_known_prices" ADD COLUMN "amounts" jsonb;--> statement-breakpoint
ALTER TABLE "payment_live_prices" ADD COLUMN "prices" jsonb DEFAULT '[]'::jsonb NOT NULL;