CREATE TABLE "notices" (
	"id_hash" text PRIMARY KEY NOT NULL,
	"content" json NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE INDEX "notices_expiry" ON "notices" USING btree ("expires_at");