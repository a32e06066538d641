// An EBS volume under a CSI plugin.
package main

import (
	"example.com/pulumi-nomad-csi/sdk/go/nomadcsi"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		plugin, err := nomadcsi.NewCsiPlugin(ctx, "aws-ebs0", &nomadcsi.CsiPluginArgs{
			Driver:    "aws-ebs",
			AwsRegion: pulumi.String("us-east-1"),
		})
		if err != nil {
			return err
		}
		mysql, err := nomadcsi.NewEbsVolume(ctx, "mysql", &nomadcsi.EbsVolumeArgs{
			PluginId:         plugin.PluginId,
			AvailabilityZone: pulumi.String("us-east-1a"),
			SizeGib:          pulumi.Int(40),
			Protect:          pulumi.BoolRef(false),
		})
		if err != nil {
			return err
		}
		ctx.Export("externalId", mysql.ExternalId)
		ctx.Export("registrationId", mysql.RegistrationId)
		return nil
	})
}
