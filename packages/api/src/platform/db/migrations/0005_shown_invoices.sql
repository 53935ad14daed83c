CREATE TABLE "payment_shown_invoices" (
	"organisation_id" uuid PRIMARY KEY NOT NULL,
	"customer_id" text NOT NULL,
	"shown" jsonb NOT NULL,
	"asked_at" timestamp with time zone NOT NULL,
	"answered_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "payment_shown_invoices" ADD CONSTRAINT "payment_shown_invoices_organisation_id_organisations_id_fk" FOREIGN KEY ("organisation_id") REFERENCES "public"."organisations"("id") ON DELETE cascade ON UPDATE no action;