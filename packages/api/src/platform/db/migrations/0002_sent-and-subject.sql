ALTER TABLE "sessions" ADD COLUMN "idp_subject" text;--> statement-breakpoint
ALTER TABLE "verification_links" ADD COLUMN "job_id" uuid;--> statement-breakpoint
ALTER TABLE "verification_links" ADD COLUMN "sent_at" timestamp with time zone;