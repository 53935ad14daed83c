ALTER TABLE "payment_known_prices" ADD COLUMN "interval" text;--> statement-breakpoint
ALTER TABLE "payment_subscriptions" ADD COLUMN "next_interval" text;