CREATE TABLE "deployment_secrets" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "job_successes" (
	"kind" text PRIMARY KEY NOT NULL,
	"at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "payment_events_flagged" ON "payment_events" USING btree ("received_at") WHERE "payment_events"."flagged";