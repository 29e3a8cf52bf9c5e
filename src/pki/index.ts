/** X.509 certificates, certificate requests, and the formats that they are written in: DER and PEM. */
export { createCertificateAuthority, openCertificateAuthority } from "./authority.ts";
export type { CertificateAuthority, KeyPair } from "./authority.ts";
export { ensureCertificates } from "./certificate-files.ts";
export type { Certificates } from "./certificate-files.ts";
export { CertificateRequestError, parseCertificateRequest } from "./certificate-request.ts";
export type { CertificateRequest, RequestSubject, SubjectAttribute } from "./certificate-request.ts";
export { subjectOf, type CertificateSubject } from "./certificate-subject.ts";
export { DerError } from "./der-reader.ts";
export { pemBlocks, writePem } from "./pem.ts";
export { clusterOf } from "./signed-requests.ts";
export { hasCertificate, tlsPairProblem } from "./tls-pair.ts";
export { writeCertificateRequest } from "./write-request.ts";
export { validityOf, type Validity } from "./validity.ts";
