CREATE INDEX "users_email_beginning" ON "users" USING btree ("email" text_pattern_ops);--> statement-breakpoint
CREATE INDEX "users_name_beginning" ON "users" USING btree (lower("name") text_pattern_ops);--> statement-breakpoint
CREATE INDEX "payment_events_id" ON "payment_events" USING btree ("id" text_pattern_ops);--> statement-breakpoint
CREATE INDEX "payment_events_type" ON "payment_events" USING btree ("type" text_pattern_ops,"received_at");--> statement-breakpoint
CREATE INDEX "payment_events_customer" ON "payment_events" USING btree ("customer_id") WHERE "payment_events"."customer_id" is not null;--> statement-breakpoint
CREATE INDEX "payment_events_subscription" ON "payment_events" USING btree ("subscription_id") WHERE "payment_events"."subscription_id" is not null;--> statement-breakpoint
CREATE INDEX "payment_subscriptions_problem" ON "payment_subscriptions" USING btree ("id") WHERE "payment_subscriptions"."problem" is not null;--> statement-breakpoint
CREATE INDEX "organisations_slug_beginning" ON "organisations" USING btree ("slug" text_pattern_ops);--> statement-breakpoint
CREATE INDEX "organisations_name_beginning" ON "organisations" USING btree (lower("name") text_pattern_ops);--> statement-breakpoint
CREATE INDEX "payment_events_flagged" ON "payment_events" USING btree ("received_at") WHERE "payment_events"."flagged";
