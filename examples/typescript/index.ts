import { CsiPlugin, EbsVolume } from "nomad-csi";

const plugin = new CsiPlugin("aws-ebs0", {
    driver: "aws-ebs",
    awsRegion: "us-east-1",
});
const mysql = new EbsVolume("mysql", {
    pluginId: plugin.pluginId,
    availabilityZone: "us-east-1a",
    sizeGib: 40,
    protect: false,
});

export const externalId = mysql.externalId;
export const registrationId = mysql.registrationId;
