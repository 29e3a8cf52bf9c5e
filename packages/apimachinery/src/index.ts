export { applyConfiguration } from "./apply/apply.ts";
export {
  asRoot,
  differenceOf,
  fieldSetDifference,
  hasField,
  intersectionOf,
  isFieldSet,
  membersOf,
  singleField,
  unionOf,
} from "./apply/field-set.ts";
export type { FieldSet } from "./apply/field-set.ts";
export type { OtherVersion, OtherVersions } from "./apply/field-versions.ts";
export { parseFieldSelector } from "./apply/fields.ts";
export { recordUpdate } from "./apply/managed-fields.ts";
export { mergeConfiguration } from "./apply/merge-configuration.ts";
export type { MergeResult } from "./apply/merge-configuration.ts";
export { findCondition, isConditionTrue, withCondition } from "./conditions.ts";
export type { Condition, NextCondition } from "./conditions.ts";
export { durationProblem, timeProblem } from "./exact/go-time.ts";
export { parseGoUrl } from "./exact/go-url.ts";
export { field } from "./field.ts";
export type { FieldError } from "./field.ts";
export { formatCheck, isCheckedFormat } from "./formats.ts";
export { fnv1a32, fnv32, safeEncode } from "./hash.ts";
export { MAX_IMAGE_LENGTH, isImageDigest, isImageTag, parseImageReference } from "./image-reference.ts";
export type { ImageReference } from "./image-reference.ts";
export { scaledValue } from "./int-or-string.ts";
export { builtInKinds, refusal } from "./kind/admission.ts";
export type {
  AccessCheck,
  Admission,
  AdmissionStep,
  AnyAdmission,
  AnyKindStep,
  AnyStep,
  ClusterReader,
  ClusterWriter,
  KindRef,
  Operation,
  Reservation,
  RequestInfo,
  Review,
} from "./kind/admission.ts";
export { canonicalObject, canonicalPart, checkMetadata, decodedPart } from "./kind/canonical.ts";
export { changedFields } from "./kind/changed-fields.ts";
export {
  age,
  ageColumn,
  column,
  createdColumn,
  labelsCell,
  nameColumn,
  selectorCell,
  templateColumns,
  wide,
} from "./kind/columns.ts";
export { checkConditions } from "./kind/check-conditions.ts";
export { objectTitle, referenceTitle } from "./object-title.ts";
export { lazyAdmission, lazyStep } from "./kind/lazy-step.ts";
export { AGE, builtInAdmission, builtInKind, builtInVersion, customKind, lazyVersion } from "./kind/define.ts";
export { definitionSchema, kindSchema, structOf } from "./kind/facts.ts";
export type { FactField, FactStruct, FactType, Leaf } from "./kind/facts.ts";
export {
  checkIntOrPercent,
  checkLabels,
  checkNotNegative,
  checkSelector,
  checkText,
  checkUnchanged,
} from "./kind/field-checks.ts";
export { change, changeItems, fill } from "./kind/fill-defaults.ts";
export { describedKind, descriptionsAt } from "./kind/descriptions.ts";
export type { FieldDescriptions } from "./kind/field-descriptions.ts";
export { dynamicKind, inVersion } from "./kind/kind.ts";
export type {
  Column,
  ConnectHandler,
  ConnectRequest,
  ConnectResponse,
  Kind,
  KindTraits,
  KindVersion,
  ObjectSource,
  SourceQuery,
  ScalePaths,
  SpecPart,
  StatusPart,
  WorkloadTraits,
} from "./kind/kind.ts";
export { HUB } from "./kind/hub.ts";
export { controllerOf, controllerReference, formatApiVersion, gvkOf, parseApiVersion } from "./kind/meta.ts";
export type { KubernetesObject, ManagedFieldsEntry, ObjectMeta, OwnerReference } from "./kind/meta.ts";
export { ConfigurationError, readConfiguration } from "./kind/configuration-file.ts";
export { ownKind, schemaErrors } from "./kind/own-kind.ts";
export { createProtobufCodec } from "./kind/protobuf.ts";
export type { ProtobufCodec } from "./kind/protobuf.ts";
export { encodeDocument, encodeMessage, protobufEnvelope, protobufWatchFrame } from "./kind/protobuf-encode.ts";
export { WireReader } from "./kind/protobuf-wire.ts";
export {
  autoscalerBehaviorDescriptions,
  conditionsDescriptions,
  labelSelectorDescriptions,
  metricSpecDescriptions,
  nodeSelectorDescriptions,
  nodeSelectorTermDescriptions,
  tolerationDescriptions,
} from "./kind/shared-descriptions.ts";
export * as s from "./kind/schema-builder.ts";
export type { Sent } from "./kind/sent-value.ts";
export { checkWebhookClient, checkWebhookService } from "./kind/webhook-client.ts";
export { formatLabelSelector, labelSelectorOf, matchesLabels, nothing, parseLabelSelector } from "./labels.ts";
export type { LabelRequirement, LabelSelector, LabelSelectorObject } from "./labels.ts";
export {
  MAX_ANNOTATIONS_BYTES,
  annotationKeyProblems,
  annotationsAreTooLong,
  dataKeyProblems,
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
  pathSegmentProblems,
} from "./names.ts";
export { applyJsonPatch } from "./patch/json-patch.ts";
export { jsonPatchBetween } from "./patch/json-patch-between.ts";
export { applyMergePatch, createMergePatch, readMergePatch } from "./patch/merge-patch.ts";
export { conversionProblem, formatGo, jsonTypeName, patchInvalid } from "./patch/patch-errors.ts";
export { applyStrategicMergePatch } from "./patch/strategic-merge-patch.ts";
export { threeWayPatch } from "./patch/three-way-patch.ts";
export { createCertificateAuthority, openCertificateAuthority } from "./pki/authority.ts";
export type { CertificateAuthority, KeyPair } from "./pki/authority.ts";
export {
  AUTHORITY_FILES,
  ensureAuthorities,
  ensureCertificates,
  readPairs,
  writePairs,
} from "./pki/certificate-files.ts";
export type { Authorities, Certificates } from "./pki/certificate-files.ts";
export { CertificateRequestError, parseCertificateRequest } from "./pki/certificate-request.ts";
export type { CertificateRequest, RequestSubject } from "./pki/certificate-request.ts";
export { subjectOf } from "./pki/certificate-subject.ts";
export type { CertificateSubject } from "./pki/certificate-subject.ts";
export { DerError, derItems, readDer } from "./pki/der-reader.ts";
export { der } from "./pki/der-writer.ts";
export { pemBlocks, writePem, splitCertificates } from "./pki/pem.ts";
export { readCertificate } from "./pki/read-certificate.ts";
export { boundsOf } from "./pki/signed-requests.ts";
export { hasCertificate, tlsPairProblem } from "./pki/tls-pair.ts";
export { writeCertificateRequest } from "./pki/write-request.ts";
export { writeCertificate } from "./pki/x509.ts";
export type { DistinguishedName } from "./pki/x509.ts";
export {
  DECIMAL_EXPONENTS,
  addQuantities,
  compareQuantities,
  formatQuantity,
  multiplyQuantity,
  parseQuantity,
  quantityMilliValue,
  quantityOfMilli,
  quantityProblem,
  quantityValue,
  scaledQuantity,
  subtractQuantities,
  tryParseQuantity,
} from "./quantity.ts";
export type { Quantity } from "./quantity.ts";
export { STEPS_PER_BUILT_STATE, compilePattern } from "./regex/pattern.ts";
export { PatternError } from "./regex/syntax.ts";
export { PatternWork, PatternWorkError } from "./regex/pattern-work.ts";
export { withObjectMeta } from "./object-meta-schema.ts";
export type { Schema } from "./schema.ts";
export { embeddedErrors } from "./schema/structural-embedded.ts";
export { coerceMetadata, manifestProblem, metadataProblem } from "./schema/structural-metadata.ts";
export { ITEMS, schemaSteps } from "./schema/schema-path.ts";
export { checkDefault, compileSchema, hasValidationRules, schemasWithin } from "./schema/structural.ts";
export type { CompiledSchema } from "./schema/structural.ts";
export { shareParts, withoutUndefined } from "./share-parts.ts";
export {
  ApiError,
  CONFLICT_MESSAGE,
  alreadyExists,
  answeredElsewhere,
  badRequest,
  conflict,
  deniedByWebhook,
  expired,
  fieldErrorText,
  forbidden,
  generatedNameTaken,
  insufficientStorage,
  internalError,
  invalid,
  isAlreadyExists,
  isAnsweredElsewhere,
  isConflict,
  isForbidden,
  isExpired,
  isInvalid,
  isNamespaceTerminating,
  isNotFound,
  methodNotAllowed,
  notAcceptable,
  notFound,
  notImplemented,
  pathNotFound,
  qualified,
  timedOut,
  tooLarge,
  tooManyRequests,
  unauthorized,
  unavailable,
  unsupportedMediaType,
  verbNotSupported,
} from "./status.ts";
export type { ResourceName, Status } from "./status.ts";
export { formatAge } from "./text/age.ts";
export { DecodeError, undecodable } from "./text/decode-error.ts";
export { MAX_STRICT_PROBLEMS, findDuplicateKeys, hasDuplicateKeys } from "./text/duplicate-keys.ts";
export { formatJson, formatNumber, formatValue, quoteText } from "./format-value.ts";
export { goJson, goStructJson, sortedKeys } from "./text/go-json.ts";
export { compileJsonPath, compileStrictJsonPath } from "./text/json-path.ts";
export type { JsonPath } from "./text/json-path.ts";
export { inOrderOfAppearance, readRepeatedKeys } from "./text/repeated-keys.ts";
export { NAMED_ESCAPES, unescapeBytes, unescapeText } from "./text/unescape.ts";
export { formatYaml, parseYaml, parseYamlBody, parseYamlDocuments } from "./text/yaml.ts";
export { YamlError, countYamlValues, dumpYaml, loadYaml } from "./yaml-dialects.ts";
export { createLineCounter, walkYaml } from "./yaml-walk.ts";
export type { YamlNode } from "./yaml-walk.ts";
export { writtenAtMs } from "./written-at.ts";
export { CLUSTER_NAME_KEY, LAST_APPLIED_ANNOTATION, LOGICAL_CLUSTER_FINALIZER } from "./names.ts";
export { parseGoDuration, parseGoDurationMs } from "./go-duration.ts";
