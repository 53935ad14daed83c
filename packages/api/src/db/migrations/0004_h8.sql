ALTER TABLE "users" ADD COLUMN "demo" boolean DEFAULT false NOT NULL;--> statement-breakpoint
UPDATE "users" SET "demo" = true WHERE "email" IN ('operator@gatehouse.example', 'owner@larch.example', 'owner@harbour.example');
