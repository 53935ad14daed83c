CREATE TABLE "identities" (
	"user_id" uuid NOT NULL,
	"issuer" text,
	"subject" text NOT NULL,
	"linked_at" timestamp with time zone NOT NULL,
	"unlinked_at" timestamp with time zone,
	CONSTRAINT "identities_subject" UNIQUE NULLS NOT DISTINCT("issuer","subject")
);
--> statement-breakpoint
ALTER TABLE "users" DROP CONSTRAINT "users_idp_subject_unique";--> statement-breakpoint
ALTER TABLE "sign_in_attempts" ADD COLUMN "user_id" uuid;--> statement-breakpoint
ALTER TABLE "verification_links" ADD COLUMN "from_known_browser" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "identities" ADD CONSTRAINT "identities_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "identities_linked" ON "identities" USING btree ("user_id") WHERE "identities"."unlinked_at" is null;--> statement-breakpoint
CREATE INDEX "identities_user" ON "identities" USING btree ("user_id");--> statement-breakpoint
ALTER TABLE "sign_in_attempts" ADD CONSTRAINT "sign_in_attempts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "users_unusual_address" ON "users" USING btree ("id") WHERE "users"."email" ~ '[^ -~]|[@.]xn--|[.](0x[0-9a-f]*|[0-9]+)$';--> statement-breakpoint
CREATE INDEX "verification_links_email" ON "verification_links" USING btree ("email","created_at");--> statement-breakpoint
INSERT INTO "identities" ("user_id", "subject", "linked_at") SELECT "id", "idp_subject", coalesce("email_verified_at", "created_at") FROM "users" WHERE "idp_subject" IS NOT NULL;--> statement-breakpoint
ALTER TABLE "users" DROP COLUMN "idp_subject";--> statement-breakpoint
DELETE FROM "verification_links" WHERE "purpose" = 'change-address' AND "email" ~ '[^ -~]';