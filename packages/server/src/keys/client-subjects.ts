/** The clients that a hub has certificates for: its administrator, and `flotilla controllers`, which has one user for all parts. */
import { AUTHENTICATED_GROUP, MASTERS_GROUP } from "@flotilla/kubernetes";
import type { CertificateSubject } from "@flotilla/apimachinery";
import { flotillaUser } from "@flotilla/flotilla";

const { name, groups } = flotillaUser("controllers");

export const CLIENT_SUBJECTS: Record<"admin" | "controllers", CertificateSubject> = {
  admin: { commonName: "admin", organizations: [MASTERS_GROUP] },
  controllers: { commonName: name, organizations: groups.filter((group) => group !== AUTHENTICATED_GROUP) },
};
