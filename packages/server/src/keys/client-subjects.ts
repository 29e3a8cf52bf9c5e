/** The clients that a hub has certificates for: its administrator, and `flotilla controllers`, which has one user for all parts. */
import type { CertificateSubject } from "@flotilla/apimachinery";
import { flotillaUser } from "@flotilla/flotilla";

const { name, groups } = flotillaUser("controllers");

export const CLIENT_SUBJECTS: Record<"admin" | "controllers", CertificateSubject> = {
  admin: { commonName: "admin", organizations: ["system:masters"] },
  controllers: { commonName: name, organizations: groups.filter((group) => group !== "system:authenticated") },
};
