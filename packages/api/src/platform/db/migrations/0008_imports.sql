ALTER TABLE "users" ADD COLUMN "provisioned" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "organisations" ADD COLUMN "provisioned" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "users_imported_password" ON "users" USING btree ("id") WHERE "users"."password_hash" like 'imported:%';