module github.com/dapr/components-contrib

go 1.20

require (
	github.com/Shopify/sarama v1.38.1
)
