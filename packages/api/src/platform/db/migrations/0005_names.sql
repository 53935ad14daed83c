ALTER TABLE "ways_back" RENAME TO "return_urls";--> statement-breakpoint
ALTER TABLE "return_urls" RENAME CONSTRAINT "ways_back_pkey" TO "return_urls_pkey";--> statement-breakpoint
ALTER INDEX "ways_back_expiry" RENAME TO "return_urls_expiry";--> statement-breakpoint
ALTER TABLE "payment_events" RENAME COLUMN "standing" TO "status_class";--> statement-breakpoint
ALTER INDEX "payment_events_standing" RENAME TO "payment_events_status_class";
