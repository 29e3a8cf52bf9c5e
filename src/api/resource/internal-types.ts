/**
 * The unversioned Go types of device claims, as messages about immutable fields print them. The notation is that of
 * `INTERNAL_TYPES`.
 */
export const DEVICE_INTERNAL_TYPES: Readonly<Record<string, string>> = {
  AllocationResult: "Devices:DeviceAllocationResult NodeSelector:*NodeSelector AllocationTimestamp:*s",
  CapacityRequirements: "Requests:map:q",
  CELDeviceSelector: "Expression:s",
  DeviceAllocationConfiguration: "Source:s Requests:[]s .DeviceConfiguration",
  DeviceAllocationResult: "Results:[]DeviceRequestAllocationResult Config:[]DeviceAllocationConfiguration",
  DeviceAttribute:
    "IntValue=int:*n BoolValue=bool:*b StringValue=string:*s VersionValue=version:*s IntValues=ints:[]n BoolValues=bools:[]b StringValues=strings:[]s VersionValues=versions:[]s",
  DeviceClaim: "Requests:[]DeviceRequest Constraints:[]DeviceConstraint Config:[]DeviceClaimConfiguration",
  DeviceClaimConfiguration: "Requests:[]s .DeviceConfiguration",
  DeviceConfiguration: "Opaque:*OpaqueDeviceConfiguration",
  DeviceConstraint: "Requests:[]s MatchAttribute:*s DistinctAttribute:*s",
  DeviceRequest: "Name:s Exactly:*ExactDeviceRequest FirstAvailable:[]DeviceSubRequest",
  DeviceRequestAllocationResult:
    "Request:s Driver:s Pool:s Device:s AdminAccess:*b Tolerations:[]DeviceToleration BindingConditions:[]s BindingFailureConditions:[]s ShareID=shareID:*s ConsumedCapacity:map:q",
  DeviceSelector: "CEL=cel:*CELDeviceSelector",
  DeviceSubRequest:
    "Name:s DeviceClassName:s Selectors:[]DeviceSelector AllocationMode:s Count:n Tolerations:[]DeviceToleration Capacity:*CapacityRequirements",
  DeviceToleration: "Key:s Operator:s Value:s Effect:s TolerationSeconds:*n",
  ExactDeviceRequest:
    "DeviceClassName:s Selectors:[]DeviceSelector AllocationMode:s Count:n AdminAccess:*b Tolerations:[]DeviceToleration Capacity:*CapacityRequirements",
  OpaqueDeviceConfiguration: "Driver:s Parameters:r",
  ResourceClaimSpec: "Devices:DeviceClaim",
  ResourceClaimTemplateSpec: "meta:meta Spec:ResourceClaimSpec",
};
