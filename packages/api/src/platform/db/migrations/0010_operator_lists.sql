CREATE INDEX "users_domain" ON "users" USING btree (split_part("email", '@', 2));--> statement-breakpoint
CREATE INDEX "users_invited_only" ON "users" USING btree ("created_at") WHERE "users"."invited_only";--> statement-breakpoint
CREATE INDEX "organisations_approved" ON "organisations" USING btree ("approved_at") WHERE "organisations"."approved_at" is not null;--> statement-breakpoint
CREATE INDEX "organisations_decided" ON "organisations" USING btree (coalesce("declined_at", "approved_at"),"id") WHERE "organisations"."approval" <> 'pending';