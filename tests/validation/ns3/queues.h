// Parts of the ns-3 programs of this directory: device queues and time averages.

#pragma once

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

/// Time average of a step function, from a given time on.
class TimeAverage
{
  public:
    explicit TimeAverage(ns3::Time from)
        : m_last(from)
    {
    }

    void Set(double value)
    {
        Advance();
        m_value = value;
    }

    double Mean(ns3::Time from)
    {
        Advance();
        return m_sum / (ns3::Simulator::Now() - from).GetSeconds();
    }

  private:
    void Advance()
    {
        if (const ns3::Time now = ns3::Simulator::Now(); now > m_last)
        {
            m_sum += m_value * (now - m_last).GetSeconds();
            m_last = now;
        }
    }

    ns3::Time m_last;
    double m_value{0};
    double m_sum{0};
};

/// Stops the queue of a device from the start of a transmission to its end, so that every waiting
/// packet is in the queue discipline. The helper of the device must have its flow control disabled.
inline ns3::Ptr<ns3::NetDeviceQueueInterface>
StopQueueWhileSending(ns3::Ptr<ns3::PointToPointNetDevice> device)
{
    using namespace ns3;
    Ptr<NetDeviceQueueInterface> interface = CreateObject<NetDeviceQueueInterface>();
    device->AggregateObject(interface);
    device->TraceConnectWithoutContext(
        "PhyTxBegin",
        Callback<void, Ptr<const Packet>>(
            [interface](Ptr<const Packet>) { interface->GetTxQueue(0)->Stop(); }));
    device->TraceConnectWithoutContext(
        "PhyTxEnd",
        Callback<void, Ptr<const Packet>>([interface](Ptr<const Packet>) {
            // After the device has finished with the packet, at the same time.
            Simulator::ScheduleNow(&NetDeviceQueue::Wake, interface->GetTxQueue(0));
        }));
    return interface;
}
