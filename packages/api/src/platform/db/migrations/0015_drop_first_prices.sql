ALTER TABLE "payment_live_prices" DROP COLUMN "sold";--> statement-breakpoint
ALTER TABLE "payment_live_prices" DROP COLUMN "amount";--> statement-breakpoint
ALTER TABLE "payment_live_prices" DROP COLUMN "currency";--> statement-breakpoint
ALTER TABLE "payment_live_prices" DROP COLUMN "interval";