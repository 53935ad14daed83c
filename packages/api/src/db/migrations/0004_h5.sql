-- Tokens of pages live for 15 minutes; those of the earlier pages belong to no link and end here.
DELETE FROM "one_time_tokens" WHERE "purpose" <> 'password-link';--> statement-breakpoint
-- Sign-ups for an account that is verified already never become valid.
UPDATE "sign_ups" SET "used_at" = now() FROM "users" WHERE "users"."id" = "sign_ups"."user_id" AND "sign_ups"."used_at" IS NULL AND "users"."email_verified_at" IS NOT NULL;--> statement-breakpoint
ALTER TABLE "verification_links" DROP CONSTRAINT "verification_links_purpose";--> statement-breakpoint
ALTER TABLE "verification_links" ADD CONSTRAINT "verification_links_purpose" CHECK ("verification_links"."purpose" in ('sign-up', 'change-address', 'lost-password'));--> statement-breakpoint
ALTER TABLE "one_time_tokens" DROP CONSTRAINT "one_time_tokens_purpose";--> statement-breakpoint
ALTER TABLE "one_time_tokens" ADD CONSTRAINT "one_time_tokens_purpose" CHECK ("one_time_tokens"."purpose" in ('password-link', 'new-password', 'keep-password', 'change-address', 'approval'));--> statement-breakpoint
ALTER TABLE "one_time_tokens" ADD COLUMN "link_hash" text;--> statement-breakpoint
ALTER TABLE "one_time_tokens" ADD CONSTRAINT "one_time_tokens_link_hash_verification_links_token_hash_fk" FOREIGN KEY ("link_hash") REFERENCES "public"."verification_links"("token_hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "one_time_tokens_link" ON "one_time_tokens" USING btree ("link_hash");
