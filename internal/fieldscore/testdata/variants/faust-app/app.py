import faust
app = faust.App("orders", broker="kafka://kafka:9092", broker_session_timeout=10.0, broker_heartbeat_interval=8.0)
